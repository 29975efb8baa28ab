"""What a command and all that it starts read: seen by the kernel, and told to perfgate."""
