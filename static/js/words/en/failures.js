/** Why something failed, by the code of the server's error; said within a sentence. @type {import("../../words.js").Table} */
export default {
  failure_connection_lost: "the connection broke",
  failure_engine_error: "the model failed at this answer",
  failure_engine_loading: "the model is not ready yet",
  failure_engine_lost: "the model's process was lost and is started again",
  failure_forbidden: "the server does not allow this from here",
  failure_not_found: "it is not there any more",
  failure_out_of_memory: "the machine had no memory left for it",
  failure_overloaded: "the server has more to do than it takes on; try again in a moment",
  failure_prompt_too_long: "the text is longer than the model can read",
  failure_rate_limited: "too much came from here in one minute; wait a moment",
  failure_request_too_large: "that is more than the server takes at once",
  failure_server_shutdown: "the server is being shut down",
  failure_slow_consumer: "this device did not read on for too long",
  failure_unauthorized: "the server wants a key for this",
  failure_upstream_error: "the model's own server failed",
  failure_other: "something went wrong on the server ({code})",
};
