import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAlive, signalProcess } from '@svc/service-kit/process/signal-process.ts';
import { openHouse, type House } from '@svc/testing/house.ts';

const debuggerPort = 9229;
let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.stop());

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => (socket.destroy(), resolve(true)));
    socket.on('error', () => resolve(false));
  });

test('[M08] SIGUSR1 opens no debugger in any process of the service', async () => {
  const pids = [house.pid, ...['core', 'manager', 'collector'].map((name) => house.pidOf(name))];
  for (const pid of pids) {
    signalProcess(pid, 'SIGUSR1');
    // Answering requests is what shows that the signal has been dealt with.
    for (let i = 0; i < 5; i++) await house.get(`${house.urls.core}/health`);
    expect([isAlive(pid), await isOpen(debuggerPort)]).toEqual([true, false]);
  }
});
