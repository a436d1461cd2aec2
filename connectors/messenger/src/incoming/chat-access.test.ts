import { expect, test } from 'vitest';
import { fakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { openChatAccess } from './chat-access.ts';

const nobody = async () => ({ principal_id: null }) as Identity;
const ann = async () => ({ principal_id: 'prn_1' }) as Identity;

async function open(allowed: number[] = []) {
  const folder = temporaryFolder();
  const again = () => {
    const { context } = fakeContext({ type: 'messenger', dataDir: folder.path, config: {} });
    return openChatAccess({ ...context, allowed, root: (chat) => (chat === -1001 ? -1 : chat) });
  };
  return { access: await again(), again };
}

const asked = (chat: number, resolve = nobody) => ({ chat, root: chat, isInvited: false, resolve });

test('learns one of several chats that write at the same time, and keeps it', async () => {
  const { access, again } = await open();
  const answers = await Promise.all([1, 2, 3].map((chat) => access.mayTalk(asked(chat))));
  expect(answers.filter(Boolean)).toHaveLength(1);
  const next = await again();
  expect(await Promise.all([1, 2, 3].map((chat) => next.mayTalk(asked(chat))))).toEqual(answers);
});

test('a known person ends the restriction, in any chat', async () => {
  const { access, again } = await open();
  expect(await access.mayTalk(asked(1))).toBe(true);
  expect(await access.mayTalk(asked(2))).toBe(false);
  expect(await access.mayTalk(asked(2, ann))).toBe(true);
  expect(await (await again()).mayTalk(asked(3))).toBe(true);
});

test('a list of allowed chats applies to everyone, and to sending', async () => {
  const { access } = await open([-1, 5]);
  expect(await access.mayTalk(asked(6, ann))).toBe(false);
  expect(await access.mayTalk({ ...asked(-1001), root: -1 })).toBe(true);
  for (const target of ['5', '5:7', '-1', '-1001:3']) expect(() => access.checkTarget(target)).not.toThrow();
  for (const target of ['6', '', '@name', '5\r\n6', '-5', undefined])
    expect(() => access.checkTarget(target)).toThrow('is not one that this bot may write to');
});

test('sends only to the learned chat while no person is known', async () => {
  const { access } = await open();
  await access.mayTalk(asked(1));
  expect(() => access.checkTarget('1')).not.toThrow();
  expect(() => access.checkTarget('2')).toThrow('is not one');
});
