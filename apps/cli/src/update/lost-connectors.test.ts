import { expect, test } from 'vitest';
import { lostConnectors, wellConnectors } from './lost-connectors.ts';

const connector = (id: string, healthy: boolean, enabled = true, reason: string | null = null) => ({
  id,
  healthy,
  enabled,
  reason,
});

test('healthy connectors that do not come back are reported with the reason', async () => {
  const before = [connector('m1', true), connector('slow', true), connector('off', false, false), connector('ill', false)];
  const wereWell = await wellConnectors(async () => before);
  let asked = 0;
  const after = async () => {
    asked += 1;
    return [connector('m1', false, true, 'it is broken'), connector('slow', asked > 1), connector('ill', false)];
  };
  expect(await lostConnectors(after, wereWell, 100)).toEqual(['m1: it is broken']);
});

test('returns at once when all connectors are back, ignoring disabled ones', async () => {
  const wereWell = await wellConnectors(async () => [connector('m1', true), connector('m2', true)]);
  expect(await lostConnectors(async () => [connector('m1', true), connector('m2', false, false)], wereWell)).toEqual([]);
});
