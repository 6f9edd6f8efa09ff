package arenas
