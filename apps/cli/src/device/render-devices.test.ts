import type { ListedDevice } from '@svc/contract/device-gateway.ts';
import { expect, test } from 'vitest';
import { createStyle } from '../terminal.ts';
import { renderDevices } from './render-devices.ts';

const plain = createStyle({ isTTY: false } as NodeJS.WriteStream);
const device: ListedDevice = {
  device_id: 'd_1',
  identity: 'd_1',
  name: 'Phone',
  platform: 'Android',
  created_at: 0,
  last_seen_at: 0,
  state: 'paired',
  online: false,
  allowed: ['notify', 'geolocation'],
  can: ['notify', 'open_url'],
};

test('a device is listed with its last visit, its permissions and other abilities', () => {
  expect(renderDevices([device], 120_000, plain)).toBe(
    '○ Phone  d_1, Android  seen 2 min ago\n    may be used for notify, geolocation\n    could do open_url: ./svc device allow',
  );
});

test('control characters in the name of a device do not reach the terminal', () => {
  const hostile = { ...device, name: 'a\u001b[2Jb', platform: 'x\ny', allowed: [], can: [] };
  expect(renderDevices([hostile], 0, plain)).not.toMatch(/\p{Cc}/u);
});
