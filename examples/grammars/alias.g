box#1   box   new       # box = new Box
item#2  item  new       # item = new Item
box     same  assign    # same = box
item    box   store     # box.field = item
same    got   load      # got = same.field
key#6   key   new       # key = new Key
