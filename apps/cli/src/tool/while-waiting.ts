/** Shows on a terminal how long something takes already; elsewhere it says once what is waited for. */
export async function whileWaiting<T>(what: string, work: Promise<T>, out: NodeJS.WriteStream = process.stderr): Promise<T> {
  if (!out.isTTY) {
    out.write(`${what}\n`);
    return work;
  }
  const startedAt = performance.now();
  const show = () => out.write(`\r${what} ${Math.round((performance.now() - startedAt) / 1000)} s `);
  show();
  const timer = setInterval(show, 1000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    out.write('\r\u001B[K');
  }
}
