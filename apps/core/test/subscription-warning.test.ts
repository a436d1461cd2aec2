import { afterEach, expect, test } from 'vitest';
import { openTestCore, type TestCore } from './open-test-core.ts';

let core: TestCore;
afterEach(() => core.close());

const notices = async () => (await core.app.inject('/health')).json<{ notices?: string[] }>().notices ?? [];
const warned = expect.stringContaining('Most vendors allow a personal login for its owner alone') as string;

test('a subscription login that answers other people than its owner causes a warning', async () => {
  core = await openTestCore({ auth: 'subscription' });
  expect(await core.context.subscriptionWarning.of('claude')).toBeNull();
  expect(await notices()).not.toContainEqual(warned);
  await core.addPrincipal('anna', 'known');
  expect(await core.context.subscriptionWarning.of('claude')).toContain('one other person is answered');
  await core.addPrincipal('bob', 'guest');
  expect(await core.context.subscriptionWarning.of('claude')).toContain('2 other people are answered');
});

test('the warning for the engine in use appears in /health', async () => {
  core = await openTestCore({ auth: 'subscription' });
  await core.addPrincipal('anna', 'known');
  await notices();
  await expect.poll(notices).toContainEqual(warned);
});

test.each(['api_key', 'local'] as const)('an engine with auth "%s" causes no warning', async (auth) => {
  core = await openTestCore({ auth });
  await core.addPrincipal('anna', 'known');
  await notices();
  await core.context.subscriptionWarning.of('claude');
  expect(await notices()).not.toContainEqual(warned);
});
