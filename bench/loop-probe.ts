/**
 * Loaded into a process (`--import`) to measure its event loop: asked `probe` by its parent, it answers with the longest time
 * since the last question that the loop was held up, on the clock and in CPU time of this thread, and with all that the thread
 * has used since, ms.
 */
const everyMs = 1;
let longest = { clock: 0, cpu: 0 };
let lastAt = performance.now();
let lastCpu = cpuMs();
let askedCpu = lastCpu;

setInterval(() => {
  const [at, cpu] = [performance.now(), cpuMs()];
  longest = { clock: Math.max(longest.clock, at - lastAt), cpu: Math.max(longest.cpu, cpu - lastCpu) };
  [lastAt, lastCpu] = [at, cpu];
}, everyMs).unref();

process.on('message', (message) => {
  if ((message as { type?: unknown }).type !== 'probe') return;
  const cpu = cpuMs();
  process.send?.({ type: 'probe', ...longest, used: cpu - askedCpu });
  askedCpu = cpu;
  longest = { clock: 0, cpu: 0 };
});

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
