"""How a sentence is put together: what the nouns of gate.model, and all rooms below, say themselves with."""
