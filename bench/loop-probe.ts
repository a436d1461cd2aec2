/**
 * Loaded into a process (`--import`) to measure its event loop: asked `probe` by its parent, it answers with the longest time
 * since the last question that the loop was held up, on the clock and in CPU time of this thread, ms.
 */
const everyMs = 1;
let longest = { clock: 0, cpu: 0 };
let lastAt = performance.now();
let lastCpu = cpuMs();

setInterval(() => {
  const [at, cpu] = [performance.now(), cpuMs()];
  longest = { clock: Math.max(longest.clock, at - lastAt), cpu: Math.max(longest.cpu, cpu - lastCpu) };
  [lastAt, lastCpu] = [at, cpu];
}, everyMs).unref();

process.on('message', (message) => {
  if ((message as { type?: unknown }).type !== 'probe') return;
  process.send?.({ type: 'probe', ...longest });
  longest = { clock: 0, cpu: 0 };
});

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
