import { isRecord } from '@svc/contract/json-value.ts';
import { createDevice, createForwardCall } from './create-server.ts';
import { serveHttp } from './serve-http.ts';
import { serveStdio } from './serve-stdio.ts';

/** Two forms: `main.ts stdio` for an operator's own MCP client, and without it HTTP, as a child of the core. */
if (process.argv[2] === 'stdio') {
  serveStdio();
} else {
  const { coreUrl, version, deviceCallMs, port } = await awaitStart();
  const device = createDevice(coreUrl, deviceCallMs);
  const form = await serveHttp({ version, forward: createForwardCall(coreUrl), device }, port);
  tellReady(form.port);
}

/**
 * What the core says at the start. `deviceCallMs`: the longest that a call of a device's tool takes. `port`: where an earlier process
 * listened, so that open conversations find it again.
 */
type Start = { type: 'start'; coreUrl: string; version: string; deviceCallMs: number; port: number };

/**
 * Waits for the core's first message, and ends this process when the core asks for it or is gone, also by force.
 * Nothing is in flight that would be worth waiting for: a call that was cut off is the engine's to repeat.
 */
function awaitStart(): Promise<Start> {
  const end = () => process.exit(0);
  process.on('SIGTERM', end);
  process.on('disconnect', end);
  if (process.send === undefined) {
    process.stderr.write('The toolbelt is started by the core. For your own MCP client run it with the argument "stdio".\n');
    process.exit(1);
  }
  return new Promise((resolve) => {
    process.on('message', (message: unknown) => {
      if (isStart(message)) resolve(message);
    });
  });
}

function tellReady(port: number): void {
  process.send?.({ type: 'ready', port });
}

function isStart(message: unknown): message is Start {
  return isRecord(message) && message['type'] === 'start';
}
