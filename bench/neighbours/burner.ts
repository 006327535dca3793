// Uses a processor until it is stopped: what an attack costs others merely because the machine is busy.
for (;;) Math.sqrt(Math.random());
