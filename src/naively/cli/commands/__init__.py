"""The commands: each a module with one function, `run(arguments, console)`."""
