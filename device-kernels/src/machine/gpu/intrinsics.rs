//! Operations of all lanes of a warp, a block or a cluster, as LLVM's intrinsics.
//!
//! They are intrinsics and not assembly by codegen rule `CONVERGE`.

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    pub(super) fn warp_sync(lanes: u32);
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    pub(super) fn block_sync(barrier: u32);
    #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    pub(super) fn barrier_count(barrier: u32, value: bool) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    pub(super) fn vote_ballot(lanes: u32, value: bool) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    pub(super) fn shuffle_index(lanes: u32, value: u32, from: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    pub(super) fn shuffle_below(lanes: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[cfg(seawall_sm = "90")]
    #[link_name = "llvm.nvvm.redux.sync.add"]
    pub(super) fn reduce_add(value: u32, lanes: u32) -> u32;
    #[cfg(seawall_sm = "90")]
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    pub(super) fn reduce_max(value: u32, lanes: u32) -> u32;
    #[cfg(seawall_sm = "90")]
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    pub(super) fn reduce_min(value: u32, lanes: u32) -> u32;
    #[cfg(seawall_sm = "90")]
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.aligned"]
    pub(super) fn cluster_arrive();
    #[cfg(seawall_sm = "90")]
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned"]
    pub(super) fn cluster_arrive_relaxed();
    #[cfg(seawall_sm = "90")]
    #[link_name = "llvm.nvvm.barrier.cluster.wait.aligned"]
    pub(super) fn cluster_wait();
}
