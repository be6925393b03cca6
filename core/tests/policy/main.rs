//! What must hold of the policies: topology, cache, launch, session, evidence, tuning.

mod cache;
mod evidence;
mod launch;
mod session;
mod thresholds;
mod topology;
mod tuning;
