"""Does a server really stream, and if not, who eats the stream? Seen from outside.

examination (asks) -> observations -> diagnosis: delivery, headers, contract, leaving -> findings;
fixes says in words what helps.
"""
