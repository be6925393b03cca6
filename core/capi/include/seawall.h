// Seawall's planner for C; written by `cargo xtask header`, do not edit.
// Sources: sha256 91fe85a1b169825fc61d6896183361ae4dd9781cd74f349948a635ed6e3afb42
// Writer: cbindgen 0.29.4

#ifndef SEAWALL_H
#define SEAWALL_H

#include <stddef.h>
#include <stdint.h>

// The outcome of a call. Numbers are never reused.
enum SeawallStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Success.
  SEAWALL_STATUS_OK = 0,
  // A pointer is null where a record or a table is needed.
  SEAWALL_STATUS_NULL_POINTER = 1,
  // A pointer is not aligned to its type.
  SEAWALL_STATUS_MISALIGNED = 2,
  // The strategy does not exist.
  SEAWALL_STATUS_INVALID_STRATEGY = 3,
  // A length is more than any memory holds.
  SEAWALL_STATUS_INVALID_LENGTH = 4,
  // A dependency names a wave that does not exist; numbers: waves, before, after.
  SEAWALL_STATUS_INVALID_WAVE = 10,
  // A wave waits for itself; numbers: wave.
  SEAWALL_STATUS_SELF_DEPENDENCY = 11,
  // Waves wait for each other in a cycle; numbers: waves on a cycle or reachable from one, a
  // wave on it.
  SEAWALL_STATUS_CYCLE = 12,
  // A buffer is too small; numbers: waves or dependencies needed, and those that fit; which
  // buffer, in the order of the requirements from 0.
  SEAWALL_STATUS_SCRATCH_TOO_SMALL = 13,
  // The resident graph exceeds the budget; numbers: resident bytes, budget bytes.
  SEAWALL_STATUS_RESIDENT_OVER_BUDGET = 20,
  // A byte count exceeds 64 bits.
  SEAWALL_STATUS_OVERFLOW = 21,
  // A wave alone exceeds a group; numbers: wave, its bytes, bytes of a group.
  SEAWALL_STATUS_WAVE_OVER_BUDGET = 22,
  // The resident graph and the regions that are alive at once exceed the budget; numbers: the
  // least budget that works, budget bytes.
  SEAWALL_STATUS_ARENA_OVER_BUDGET = 23,
  // A group exceeds the budget under a topology; numbers: topology, its bytes, budget bytes.
  SEAWALL_STATUS_OVER_BUDGET = 24,
  // The alignment is no power of two; numbers: alignment.
  SEAWALL_STATUS_INVALID_ALIGNMENT = 30,
  // The groups belong to another program; numbers: waves, waves planned.
  SEAWALL_STATUS_PLAN_MISMATCH = 31,
  // No iteration is allowed.
  SEAWALL_STATUS_EMPTY_ITERATION_BUDGET = 40,
  // The changed flag is not one device word; numbers: its bytes.
  SEAWALL_STATUS_INVALID_CHANGED_FLAG_WIDTH = 41,
  // The host asks to read the flag between iterations; numbers: reads.
  SEAWALL_STATUS_HOST_POLLED_CONVERGENCE = 42,
  // A limit of the dispatch's device is 0.
  SEAWALL_STATUS_ZERO_LIMIT = 50,
  // The queue, rounded up to whole groups, exceeds 32 bits; numbers: items, lanes of a group.
  SEAWALL_STATUS_QUEUE_TOO_LONG = 51,
  // The derived hit capacity exceeds 32 bits; numbers: items, hits expected of one.
  SEAWALL_STATUS_HIT_CAPACITY_OVERFLOW = 52,
  // Resident bytes and the hit buffer's exceed 64 bits; numbers: resident bytes, hit capacity.
  SEAWALL_STATUS_PEAK_BYTES_OVERFLOW = 53,
  // The dispatch does not fit; numbers: bytes that it needs, bytes that there are.
  SEAWALL_STATUS_OUT_OF_MEMORY = 54,
  // There is no plan for that many devices; numbers: devices.
  SEAWALL_STATUS_INVALID_DEVICE_COUNT = 60,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SeawallStatus SeawallStatus;
#else
typedef uint32_t SeawallStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// State of a fixpoint after an iteration.
enum SeawallProgress
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The iteration changed something and another one is allowed.
  SEAWALL_PROGRESS_RUNNING = 0,
  // The iteration changed nothing.
  SEAWALL_PROGRESS_CONVERGED = 1,
  // The last allowed iteration still changed something.
  SEAWALL_PROGRESS_EXHAUSTED = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SeawallProgress SeawallProgress;
#else
typedef uint32_t SeawallProgress;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The way in which the lanes of the grid cover a frontier.
enum SeawallExecutionTopology
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // One warp per active node.
  SEAWALL_EXECUTION_TOPOLOGY_WARP_SPARSE = 0,
  // A queue of active nodes; needs the least memory.
  SEAWALL_EXECUTION_TOPOLOGY_SPARSE = 1,
  // Queue and bitmap side by side.
  SEAWALL_EXECUTION_TOPOLOGY_HYBRID = 2,
  // A sweep over all nodes.
  SEAWALL_EXECUTION_TOPOLOGY_DENSE = 3,
  // A sweep in blocks that share their staging memory.
  SEAWALL_EXECUTION_TOPOLOGY_BLOCK_DENSE = 4,
  // Several steps fused into one.
  SEAWALL_EXECUTION_TOPOLOGY_FUSED = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SeawallExecutionTopology SeawallExecutionTopology;
#else
typedef uint32_t SeawallExecutionTopology;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Strategies that turn layers into groups.
enum SeawallStrategy
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Next-fit inside each layer; needs the buffers of layers only.
  SEAWALL_STRATEGY_IN_ORDER = 0,
  // Fewest barriers that list scheduling finds; needs the packing buffers as well.
  SEAWALL_STRATEGY_PACKED = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum SeawallStrategy SeawallStrategy;
#else
typedef uint32_t SeawallStrategy;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A caller's request for a device-resident fixpoint.
typedef struct {
  // Iterations after which the device stops without convergence.
  uint32_t max_device_iterations;
  // Bytes of the changed flag; 4.
  uint32_t changed_flag_bytes;
  // Reads of the flag by the host before the end; 0.
  uint32_t requested_host_iteration_polls;
} SeawallConvergenceRequest;

// A fixpoint that the device ends by itself. The host reads the flag once, at the end.
typedef struct {
  // Iterations after which the device stops without convergence.
  uint32_t max_device_iterations;
  // Synchronisations of the host with the device.
  uint32_t host_sync_points;
  // Bytes of the flag that the host reads at the end.
  uint32_t changed_flag_readback_bytes;
  // Reads of the flag by the host before the end.
  uint32_t host_iteration_polls;
} SeawallConvergence;

// The numbers of an outcome, as described at the outcome; the rest is 0.
typedef struct {
  // The numbers, in the order that the outcome lists them.
  uint64_t numbers[3];
} SeawallProblem;

// One step of graph work, described by the bytes that it needs.
typedef struct {
  // Bytes of the frontier that the wave reads or fills while it runs.
  uint64_t frontier_bytes;
  // Bytes of working memory for one copy of the wave.
  uint64_t scratch_bytes;
  // Bytes that the wave leaves for its successors.
  uint64_t output_bytes;
} SeawallWave;

// One wave waits for another.
typedef struct {
  // Position of the wave that runs first.
  uint32_t before;
  // Position of the wave that waits.
  uint32_t after;
} SeawallDependency;

// A program: waves and their dependencies. Null is allowed for tables of no entries.
typedef struct {
  // The waves.
  const SeawallWave *waves;
  // Number of entries.
  size_t wave_count;
  // The dependencies, in any order.
  const SeawallDependency *dependencies;
  // Number of entries.
  size_t dependency_count;
} SeawallDag;

// Bytes that a plan may use.
typedef struct {
  // Bytes that stay on the device for the whole run: the graph.
  uint64_t resident_bytes;
  // Total bytes.
  uint64_t budget_bytes;
  // Bytes that the last interval read back.
  uint64_t readback_bytes;
} SeawallBudget;

// Options of an arena's layout.
typedef struct {
  // Every offset is a multiple of this power of two; 256 suits most devices.
  uint64_t alignment_bytes;
  // Bit `w % 32` of word `w / 32` keeps the output of wave `w` to the end. Null keeps the
  // outputs that no wave depends on.
  const uint32_t *result_words;
  // Number of words.
  size_t result_word_count;
} SeawallArenaOptions;

// Measured figures of a step; 0 for each that is unknown.
typedef struct {
  // Nodes of the graph.
  uint64_t nodes;
  // Directed edges of the graph.
  uint64_t edges;
  // Bytes that one step would read back.
  uint64_t readback_bytes;
  // Nanoseconds that the work of one dispatch takes.
  uint64_t dispatch_cost_ns;
  // Nanoseconds that one launch costs.
  uint64_t launch_overhead_ns;
  // Active nodes over all nodes in parts per million; more than one counts as one.
  uint32_t frontier_density_ppm;
  // Share of the work that could be fused in basis points; more than one counts as one.
  uint32_t fusion_pressure_bps;
} SeawallSignals;

// A dispatch to size. Its pressure, resident bytes and budget are those of the plan.
typedef struct {
  // Items in the queue.
  uint32_t queue_len;
  // Requested worker groups; 0 derives them from the limits.
  uint32_t requested_worker_groups;
  // Most lanes of a group along its first dimension.
  uint32_t max_workgroup_size_x;
  // Most groups along one dimension of the grid.
  uint32_t max_compute_workgroups_per_dimension;
  // Most lanes of a group in all.
  uint32_t max_compute_invocations_per_workgroup;
  // Requested hit capacity; 0 derives it from the queue.
  uint32_t requested_hit_capacity;
  // Hits expected of one item; 0 counts as 1.
  uint32_t expected_hits_per_item;
  // Launches that the oldest priority item has waited for.
  uint32_t max_priority_age;
  // Items that were requeued since the last launch.
  uint64_t requeue_count;
} SeawallLaunchRequest;

// A program with all that its plan depends on.
typedef struct {
  // The waves and their order.
  SeawallDag dag;
  // Bytes that may be used.
  SeawallBudget budget;
  // The way in which regions are laid out.
  SeawallArenaOptions arena;
  // Alignment to fall back to where the arena does not fit; 0 keeps the one asked for.
  uint64_t least_alignment_bytes;
  // One of `SeawallStrategy`.
  uint32_t strategy;
  // Not 0 where results may be read right after their group and give up their memory then.
  uint32_t early_results;
  // Not 0 where smaller groups may not take the place of those of the strategy.
  uint32_t fixed_groups;
  // Not 0 where all blocks of a grid can meet, so that steps can be fused.
  uint32_t grid_sync;
  // The topology that ran last, one of `SeawallExecutionTopology`; any other number for none.
  uint32_t previous;
  // Measured figures of a step.
  SeawallSignals signals;
  // The dispatch to size; null for none.
  const SeawallLaunchRequest *launch;
} SeawallExecutionRequest;

// One exchange between devices, and the barrier of all that ends it.
typedef struct {
  // Bytes that each device receives from all others together, at most.
  uint64_t received_bytes;
  // The group after which it takes place, from 0.
  uint32_t after_group;
} SeawallExchange;

// The devices of a plan, and its working memory beside the buffers of an execution.
typedef struct {
  // Their number, 1 to 65 536.
  uint32_t count;
  // Flags of each wave, of `SeawallWaveFlag`; one element a wave.
  const uint32_t *cuts;
  // Result: the waves of one device; one element a wave.
  SeawallWave *waves;
  // Result: the exchanges, first to last; one element a wave, of which as many are written as the
  // summary says.
  SeawallExchange *exchanges;
  // Working memory: four elements a wave.
  uint32_t *words;
  // Working memory: one element a wave.
  uint64_t *bytes;
  // Working memory: one element a dependency.
  uint32_t *targets;
} SeawallDevices;

// Number of elements that each buffer needs.
typedef struct {
  // `uint32_t` elements for the waves of layers.
  size_t layer_words;
  // `uint32_t` elements for the dependencies of layers.
  size_t dependency_words;
  // `uint32_t` elements for packing.
  size_t pack_words;
  // `uint64_t` elements for packing.
  size_t pack_bytes;
  // `uint32_t` elements for an arena.
  size_t arena_words;
  // `uint64_t` elements for an arena.
  size_t arena_offsets;
} SeawallRequirements;

// Working memory of the caller. Null is allowed where the length is 0.
//
// A call writes to it and its results point into it, so they hold until the next call.
// Buffers must not overlap.
typedef struct {
  // For the waves of layers.
  uint32_t *layer_words;
  // For the dependencies of layers.
  uint32_t *dependency_words;
  // For packing.
  uint32_t *pack_words;
  // For packing.
  uint64_t *pack_bytes;
  // For an arena.
  uint32_t *arena_words;
  // For an arena.
  uint64_t *arena_offsets;
  // The length of each buffer in elements.
  SeawallRequirements lengths;
} SeawallBuffers;

// The figures of a plan.
typedef struct {
  // Barriers between groups.
  uint64_t global_barriers;
  // No plan has fewer groups.
  uint64_t lower_bound;
  // Largest sum of frontier bytes in a group.
  uint64_t peak_frontier_bytes;
  // Largest sum of scratch bytes in a group.
  uint64_t peak_scratch_bytes;
  // Largest sum of output bytes in a group.
  uint64_t peak_output_bytes;
  // Largest sum of fused bytes in a group.
  uint64_t peak_group_bytes;
  // The last readback or the largest output of a group.
  uint64_t amortized_readback_bytes;
  // Most waves in one group.
  uint64_t max_group_width;
} SeawallSummary;

// Groups; both tables lie in the caller's buffers.
typedef struct {
  // All waves, group by group.
  const uint32_t *order;
  // Number of waves.
  size_t wave_count;
  // End of each group in `order`.
  const uint32_t *ends;
  // Number of groups.
  size_t group_count;
  // The figures.
  SeawallSummary summary;
} SeawallGroups;

// One device allocation for everything that a plan touches.
typedef struct {
  // Size of the arena in bytes.
  uint64_t bytes;
  // No arena is smaller.
  uint64_t lower_bound;
} SeawallArena;

// The sizes of a dispatch.
typedef struct {
  // Resident bytes and the hit buffer's.
  uint64_t estimated_peak_bytes;
  // Entries of the hit buffer.
  uint32_t hit_capacity;
  // Worker groups; an upper bound of `grid_groups`.
  uint32_t worker_groups;
  // Lanes of one group.
  uint32_t lanes_per_group;
  // Items rounded up to whole groups.
  uint32_t slot_count;
  // Groups to launch.
  uint32_t grid_groups;
  // Not 0 where hot opcodes run fused.
  uint32_t fused;
} SeawallLaunch;

// A program planned from end to end; its tables lie in the caller's buffers.
typedef struct {
  // The groups.
  SeawallGroups groups;
  // The arena.
  SeawallArena arena;
  // The alignment of its offsets.
  uint64_t alignment_bytes;
  // Total bytes required.
  uint64_t required_bytes;
  // Bytes of scratch of the group that needs most, under the topology to run.
  uint64_t scratch_bytes;
  // Required over budgeted bytes in basis points.
  uint32_t pressure_bps;
  // The topology to run, one of `SeawallExecutionTopology`.
  uint32_t topology;
  // The topology that was wanted; another one where it does not fit.
  uint32_t wanted;
  // The rule that decided, by its number.
  uint32_t reason;
  // 0 where each result has to be read right after its group.
  uint32_t results_stay;
  // The sizes of the dispatch; all 0 where none was asked for.
  SeawallLaunch launch;
} SeawallExecution;

// Offsets of a wave's regions, in bytes from the start of the arena.
typedef struct {
  // The frontier.
  uint64_t frontier;
  // The scratch.
  uint64_t scratch;
  // The output.
  uint64_t output;
} SeawallOffsets;

// Figures of the exchanges of a plan, and of what several devices buy.
typedef struct {
  // Exchanges; for these groups there are no fewer.
  uint64_t exchange_count;
  // No grouping has fewer.
  uint64_t exchanges_lower_bound;
  // Bytes that each device receives in all.
  uint64_t received_bytes;
  // Predicted time on one device, nanoseconds.
  uint64_t one_ns;
  // Predicted time on all devices, nanoseconds.
  uint64_t all_ns;
} SeawallDevicesSummary;

// Layers; both tables lie in the caller's buffers.
typedef struct {
  // All waves, layer by layer.
  const uint32_t *order;
  // Number of waves.
  size_t wave_count;
  // End of each layer in `order`.
  const uint32_t *ends;
  // Number of layers.
  size_t layer_count;
} SeawallLayers;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Checks a request and writes its contract.
//
// `problem` may be null.
//
// # Safety
//
// Pointers that are not null point to valid records; nothing overlaps.
SeawallStatus seawall_convergence(const SeawallConvergenceRequest *request,
                                  SeawallConvergence *contract,
                                  SeawallProblem *problem);

// Writes the state of a fixpoint after `iteration`, counted from 1.
//
// `changed_flag` is the number of the last iteration that changed anything.
// `problem` may be null.
//
// # Safety
//
// As for `seawall_convergence`.
SeawallStatus seawall_convergence_after(const SeawallConvergence *contract,
                                        uint32_t iteration,
                                        uint32_t changed_flag,
                                        SeawallProgress *progress,
                                        SeawallProblem *problem);

// Plans a program for several devices, each with the budget of the request and a part of the
// nodes; the plan is that of each.
//
// `offsets` takes one record per wave; `problem` may be null. A refused budget is that of a device.
//
// # Safety
//
// As for `seawall_plan_execution`; the tables of `devices` hold as many elements as they say.
SeawallStatus seawall_plan_devices(const SeawallExecutionRequest *request,
                                   const SeawallDevices *devices,
                                   const SeawallBuffers *buffers,
                                   SeawallExecution *execution,
                                   SeawallOffsets *offsets,
                                   SeawallDevicesSummary *summary,
                                   SeawallProblem *problem);

// Returns the number of elements that each buffer needs; too large a program asks for `SIZE_MAX`.
//
// # Safety
//
// `requirements` points to space for one record.
SeawallStatus seawall_requirements(size_t wave_count,
                                   size_t dependency_count,
                                   SeawallRequirements *requirements);

// Puts waves into layers, the fewest barriers that their order allows, in linear time.
//
// `problem` may be null.
//
// # Safety
//
// Pointers that are not null point to valid records; tables and buffers hold what their
// lengths say; nothing overlaps.
SeawallStatus seawall_plan_layers(const SeawallDag *dag,
                                  const SeawallBuffers *buffers,
                                  SeawallLayers *layers,
                                  SeawallProblem *problem);

// Puts waves into groups that fit a budget. `strategy` is one of `SeawallStrategy`.
//
// `problem` may be null.
//
// # Safety
//
// As for `seawall_plan_layers`.
SeawallStatus seawall_plan_groups(const SeawallDag *dag,
                                  const SeawallBudget *budget,
                                  uint32_t strategy,
                                  const SeawallBuffers *buffers,
                                  SeawallGroups *groups,
                                  SeawallProblem *problem);

// Puts waves into groups and assigns every region an offset in one arena, which fits the budget
// beside the resident bytes. Groups are packed, or smaller where the arena of packed ones does not
// fit. Any budget that is too small is refused with the least one that works.
//
// `offsets` takes one record per wave; `problem` may be null.
//
// # Safety
//
// As for `seawall_plan_layers`; `offsets` has space for a record of every wave.
SeawallStatus seawall_plan(const SeawallDag *dag,
                           const SeawallBudget *budget,
                           const SeawallArenaOptions *options,
                           const SeawallBuffers *buffers,
                           SeawallGroups *groups,
                           SeawallArena *arena,
                           SeawallOffsets *offsets,
                           SeawallProblem *problem);

// The name of an outcome in `snake_case`; `"unknown"` for any other number. Never null.
const char *seawall_status_name(uint32_t status);

// Plans a program from end to end: groups, arena, topology, memory and launch. Any budget that is
// too small for them is refused with the least one that works.
//
// `offsets` takes one record per wave; `problem` may be null.
//
// # Safety
//
// As for `seawall_plan`; the launch of the request is null or points to a valid record.
SeawallStatus seawall_plan_execution(const SeawallExecutionRequest *request,
                                     const SeawallBuffers *buffers,
                                     SeawallExecution *execution,
                                     SeawallOffsets *offsets,
                                     SeawallProblem *problem);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEAWALL_H */
