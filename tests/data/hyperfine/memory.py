import os

bytearray(50_000_000 if os.environ.get("HYPERFINE_ITERATION") == "1" else 1)
