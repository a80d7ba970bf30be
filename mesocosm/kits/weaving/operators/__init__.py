"""One operator a module, named ``operator``; registered by existing."""
