"""The sandbox: what measured code may write and see, enforced by the kernel."""
