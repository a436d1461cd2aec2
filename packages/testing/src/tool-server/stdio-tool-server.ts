import { setTimeout as sleep } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createEchoToolServer } from './echo-tool-server.ts';

// A real stdio tool server to be started by an engine. `slow MS` comes up late, `never` not at all, `broken` writes nonsense.
const [how, ms] = process.argv.slice(2);
if (how === 'slow') await sleep(Number(ms));
if (how === 'never') await sleep(600_000);
if (how === 'broken') {
  process.stdout.write('this is no tool server\n');
  process.exit(3);
}
await createEchoToolServer().connect(new StdioServerTransport());
process.stdin.on('end', () => process.exit());
