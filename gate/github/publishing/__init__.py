"""From measurements to what people see on GitHub; shared by publish and the action."""
