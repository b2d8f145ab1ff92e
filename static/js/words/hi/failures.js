/** Why something failed, by the code of the server's error, in Hindi. @type {import("../../words.js").Table} */
export default {
  failure_connection_lost: "कनेक्शन टूट गया",
  failure_engine_error: "मॉडल यह जवाब नहीं बना सका",
  failure_engine_loading: "मॉडल अभी तैयार नहीं है",
  failure_engine_lost: "मॉडल की प्रक्रिया बंद हो गई और फिर शुरू की जा रही है",
  failure_forbidden: "सर्वर यहाँ से इसकी अनुमति नहीं देता",
  failure_not_found: "वह अब मौजूद नहीं है",
  failure_out_of_memory: "इसके लिए मशीन में मेमोरी नहीं बची",
  failure_overloaded: "सर्वर के पास अभी बहुत काम है; थोड़ी देर में फिर कोशिश कीजिए",
  failure_prompt_too_long: "पाठ इतना लंबा है कि मॉडल उसे पूरा नहीं पढ़ सकता",
  failure_rate_limited: "एक मिनट में यहाँ से बहुत कुछ आया; थोड़ा रुकिए",
  failure_request_too_large: "यह उससे ज़्यादा है जितना सर्वर एक बार में लेता है",
  failure_server_shutdown: "सर्वर बंद किया जा रहा है",
  failure_slow_consumer: "इस उपकरण ने बहुत देर तक आगे नहीं पढ़ा",
  failure_unauthorized: "सर्वर इसके लिए चाबी माँगता है",
  failure_upstream_error: "मॉडल का अपना सर्वर विफल रहा",
  failure_other: "सर्वर पर कुछ गड़बड़ हुई ({code})",
};
