# Points of a program; open takes a lock, and close releases one.
start  outer  open
outer  inner  open
inner  after  close
after  exit   close
outer  early  step
