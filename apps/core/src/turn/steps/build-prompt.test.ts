import { mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Attachment } from '@svc/contract/envelope.ts';
import type { Identity } from '@svc/contract/trust.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { createConversationFiles } from '../../session/conversation-files.ts';
import type { ObservedMessage } from '../../session/observed-store.ts';
import type { Turn } from '../turn.ts';
import { buildPrompt } from './build-prompt.ts';

const identity = { display_name: 'Anna', trust_tier: 'KNOWN' } as Identity;
let root: string;
let file: string;
let warnings: string[];

beforeEach(() => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  root = realpathSync(folder.path);
  const day = path.join(root, 'uploads/2026-11-22');
  mkdirSync(day, { recursive: true });
  file = path.join(day, 'a.txt');
  writeFileSync(file, 'a');
  warnings = [];
});

const observed = (id: number, attachments: Attachment[]) =>
  ({
    id,
    sender: 'Bob',
    tier: null,
    text: `${id}`,
    attachments,
    at: 0,
    gone: 0,
    gone_since: null,
    gone_until: null,
  }) as ObservedMessage;

const promptOf = (seen: ObservedMessage[], attachments: Attachment[] = []) => {
  const log = { warn: (fields: object) => void warnings.push(JSON.stringify(fields)) };
  const deps = {
    clock: createFakeClock(),
    instanceRules: { of: () => ({}) },
    persona: { text: () => 'be kind' },
    observed: { list: () => Promise.resolve(seen) },
    announcements: { newestId: () => 0 },
    sessions: {},
    conversationFiles: createConversationFiles({
      folder: path.join(root, 'attachments'),
      uploads: path.join(root, 'uploads'),
      log,
    }),
  } as unknown as Parameters<typeof buildPrompt>[0];
  const turn = {
    envelope: { channel: 'compat', conversation_key: 'k', content: { text: 'hi', attachments } },
  } as unknown as Turn;
  return buildPrompt(deps, turn, identity);
};

test('a file named by many messages is linked once and readable for the engine', async () => {
  const prompt = await promptOf(
    Array.from({ length: 20 }, (_, id) => observed(id, [{ path: file }])),
    [{ path: file }],
  );
  expect(warnings).toEqual([]);
  expect(readFileSync(prompt.attachments[0]?.path ?? '', 'utf8')).toBe('a');
  expect(statSync(file).nlink).toBe(2);
});
