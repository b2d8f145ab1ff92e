"""The benchmark: Firstword beside other servers, same machine, same prompts, same client."""
