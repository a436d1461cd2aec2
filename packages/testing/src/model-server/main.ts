import { parseArgs } from 'node:util';
import { startModelServer } from './start-model-server.ts';

/** `node main.ts [--port N] [--strict]`: the scripted model with its keyword scenarios, until it gets a signal. */
const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, strict: { type: 'boolean', default: false } },
});

const server = await startModelServer({ port: Number(values.port), strictTools: values.strict });
process.stdout.write(`${server.url}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
