//! Every analysis against an obvious sequential worklist, on random flow graphs, random modules and
//! real ones.

mod analyses;
mod front_ends;
mod grammar;
mod loans;
mod oracle;
mod pictures;
mod points_to;
mod random;
mod real;
mod registers;
mod solver;
mod taint;
