import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { History } from '@svc/contract/session.ts';
import type { Terminal } from '@svc/contract/terminal.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { waitFor } from '@svc/testing/house.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { testUnless, whyNoTmux } from '@svc/testing/skip-note.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished } from 'vitest';
import { openEngineCore } from './open-engine-core.ts';
import { envelope } from './open-test-core.ts';

const noUsage = { input_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, output_tokens: 0 };
const key = 'compat:c1:key';
/** Gemini takes an Enter within 30 ms of a character for a line break of pasted text. */
const personsPaceMs = 150;
const pastMs = 3000;
const waitMs = 40_000;
/** The pause between two answers: a program that was just trusted with a folder may restart itself. */
const answerMs = 6000;

/** What the program shows when it is ready, and what it may ask before. */
const programs = {
  claude: { sign: /\? for shortcuts|❯\s*$|auto mode/m, asks: /trust|Enter to confirm|Dark mode|Press Enter/i },
  codex: { sign: /Ask Codex|for shortcuts|send/, asks: /trust|Press enter|continue/i },
  gemini: { sign: /Type your message/, asks: /Do you trust|Trust folder/i },
} as const;

for (const id of ['claude', 'codex', 'gemini'] as const) {
  describeWithEngine(id, `conversation of a channel in the program of ${id}`, async (install) => {
    testUnless(whyNoTmux())(
      'continues in a terminal, and afterwards on the channel, as one conversation',
      async () => {
        const home = temporaryFolder();
        const { core, model, close } = await openEngineCore(id, install, { HOME: home.path, TERM: 'xterm-256color' });
        const socket = path.join(core.folder, 'run/tmux.sock');
        onTestFinished(async () => {
          spawnSync('tmux', ['-S', socket, 'kill-server']);
          await close();
          home.remove();
        });
        const cwd = path.join(core.folder, 'workspace');
        let serial = 0;
        const say = async (text: string) =>
          (await core.handle(envelope(text, { message_id: `m-${++serial}` }))).json<HandleResult & { error?: string }>();
        model.script((request) => ({ steps: [{ text: `heard ${request.userText.trim().split('\n').at(-1)?.slice(-20)}` }] }));
        const first = await say('ALPHA one');
        expect(first).toMatchObject({ outcome: 'replied' });
        const before = (await core.context.sessions.read(key))?.engine_session_id ?? '';
        configure(id, core.folder, cwd);

        const opened = await core.app.inject({ method: 'POST', url: '/v2/terminals', payload: { conversation_key: key } });
        expect([opened.statusCode, opened.body]).toEqual([200, opened.body]);
        const terminal = opened.json<Terminal>();
        expect(terminal.engine_session_id).toBe(before);
        const tmux = (...args: string[]) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' });
        let seen = '';
        const screen = (): string => {
          try {
            seen = tmux('capture-pane', '-p', '-t', `=${terminal.id}:`);
          } catch (error) {
            throw new Error(`The terminal is gone. It showed last:\n${seen}`, { cause: error });
          }
          return seen;
        };
        const press = (name: string) => tmux('send-keys', '-t', `=${terminal.id}:`, name);
        const { sign, asks } = programs[id];
        let pressedAt = 0;
        await waitFor(
          () => {
            const text = screen();
            // An earlier question may still be shown above.
            const [listens, asked] = [lastOf(sign, text), lastOf(asks, text)];
            if (listens > asked && (pressedAt > 0 || id !== 'gemini')) return true; // the prompt appears a moment before the question
            // A second Enter in a row might answer the next question, which may be whether to quit.
            if (asked >= 0 && Date.now() - pressedAt > answerMs) {
              // Enter alone would not trust the folder, and the program would quit.
              if (/❯ No, exit/.test(text)) press('Down');
              press('Enter');
              pressedAt = Date.now();
            }
            return false;
          },
          waitMs,
          () => `it does not listen:\n${screen()}`,
        );
        // The vendor's program loads the history a moment after it shows it.
        if (id === 'gemini') await sleep(pastMs);
        tmux('send-keys', '-t', `=${terminal.id}:`, '-l', 'BRAVO two');
        await waitFor(
          () => screen().includes('BRAVO two'),
          waitMs,
          () => screen(),
        );
        await sleep(personsPaceMs);
        // A program still busy with the history drops the key, so it is pressed again; on an empty line it does nothing.
        let enteredAt = 0;
        await waitFor(
          () => {
            const isAsked = model.requests.some(({ userText }) => userText.includes('BRAVO two'));
            if (!isAsked && Date.now() - enteredAt > answerMs) {
              press('Enter');
              enteredAt = Date.now();
            }
            return screen().includes('heard BRAVO two');
          },
          waitMs,
          () => `no answer:\n${screen()}`,
        );
        const typed = model.requests.find(({ userText }) => userText.includes('BRAVO two'));
        expect(typed?.historyText).toContain('ALPHA one');

        // An operator message is typed only when nobody else types.
        tmux('send-keys', '-t', `=${terminal.id}:`, '-l', 'x');
        const words = { conversation_key: key, text: 'DELTA four' };
        const injected = core.app.inject({ method: 'POST', url: '/v2/inject', payload: words });
        await sleep(personsPaceMs);
        tmux('send-keys', '-t', `=${terminal.id}:`, 'BSpace');
        expect((await injected).json()).toMatchObject({ delivered: true, deliverErr: null, route: null });
        await waitFor(
          () => screen().includes('heard DELTA four'),
          waitMs,
          () => `no answer:\n${screen()}`,
        );
        // Nor is the text taken as a command of the program, or as a choice in a list that it opens.
        const canary = path.join(home.path, 'canary');
        const hostile = [`!touch ${canary}`, '/quit', 'exit', 'look at $HOME'];
        for (const text of hostile) {
          const asked = model.requests.length;
          const { statusCode, body } = await core.app.inject({
            method: 'POST',
            url: '/v2/inject',
            payload: { ...words, text },
          });
          expect([text, statusCode, body]).toEqual([text, 200, expect.stringContaining('"delivered":true')]);
          await waitFor(
            () => model.requests.slice(asked).some(({ userText }) => userText.trim().endsWith(text)),
            waitMs,
            () => `${text} is no message:\n${screen()}`,
          );
        }
        expect(existsSync(canary)).toBe(false);

        expect(await say('while it is away')).toMatchObject({ outcome: 'command' });
        expect(await say('still away')).toMatchObject({ outcome: 'observed', actions: [] });
        await core.context.terminals.end(terminal.id);
        const asked = model.requests.length;
        expect(await say('CHARLIE three')).toMatchObject({ outcome: 'replied' });
        const { messages } = (await core.app.inject(`/v2/session/${key}/history`)).json<History>();
        const times = messages.map(({ at }) => at);
        expect(times).toEqual(times.toSorted((one, other) => one - other));
        const last = (text: string) => text.trim().split('\n').at(-1) ?? '';
        expect(
          messages.filter(({ text }) => !/away|open in a terminal/.test(text)).map(({ role, text }) => [role, last(text)]),
        ).toEqual([
          ['user', 'ALPHA one'],
          ['assistant', 'heard ALPHA one'],
          ['user', 'BRAVO two'],
          ['assistant', 'heard BRAVO two'],
          ['user', 'DELTA four'],
          ['assistant', 'heard DELTA four'],
          ...hostile.flatMap((text) => [
            ['user', text],
            ['assistant', `heard ${text.slice(-20)}`],
          ]),
          ['user', 'CHARLIE three'],
          ['assistant', 'heard CHARLIE three'],
        ]);
        // Each engine counts cached tokens differently, but equally for equal turns.
        const { usage = noUsage } = first;
        const turns = 4 + hostile.length;
        expect(await core.context.sessions.read(key)).toMatchObject({
          turns,
          input_tokens: turns * (usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens),
          output_tokens: turns * usage.output_tokens,
        });
        const history = model.requests.slice(asked).find(({ userText }) => userText.includes('CHARLIE three'))?.historyText ?? '';
        expect(history).toContain('ALPHA one');
        expect(history).toContain('BRAVO two');
        expect((await core.context.sessions.read(key))?.engine_session_id).toBe(before);
      },
      180_000,
    );
  });
}

const lastOf = (words: RegExp, text: string): number =>
  Math.max(-1, ...Array.from(text.matchAll(new RegExp(words, `${words.flags}g`)), ({ index }) => index));

/** Presets the questions that a person would have answered before. */
function configure(id: string, folder: string, cwd: string): void {
  if (id !== 'claude') return;
  const config = path.join(folder, 'engine-state/claude/config');
  const projects = { [cwd]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } };
  const answers = { hasCompletedOnboarding: true, theme: 'dark', numStartups: 5, projects };
  mkdirSync(config, { recursive: true });
  writeFileSync(path.join(config, '.claude.json'), JSON.stringify(answers));
}
