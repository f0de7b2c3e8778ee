"""How kernels, which are plain functions on arrays, are compiled, and where compiled code is cached."""
