import { randomUUID } from 'node:crypto';
import type { Screen } from './listening.ts';

type Answer = { code: number | null; stdout: string; stderr: string };
/** One command of tmux, on the service's own server. */
export type AskTmux = (args: readonly string[], input?: string) => Promise<Answer>;

/** What is shown in a terminal, and what a person would type there. Each throws `unprocessable` when tmux knows no such terminal. */
export type TerminalScreen = {
  read(id: string): Promise<Screen>;
  /** Pastes a text, marked as pasted for a program that knows of it. No list of processes shows it. */
  paste(id: string, text: string): Promise<void>;
  press(id: string, key: 'Enter' | 'Escape'): Promise<void>;
};

/** `refuse` throws for an answer that is a refusal; `checked` for a name that is not ours. */
export function createTerminalScreen(
  ask: AskTmux,
  { refuse, checked }: { refuse(answer: Answer): void; checked(id: string): string },
): TerminalScreen {
  const at = (id: string) => `=${checked(id)}:`;
  const run = async (args: readonly string[], input?: string): Promise<string> => {
    const answer = await ask(args, input);
    refuse(answer);
    return answer.stdout;
  };
  return {
    async read(id) {
      const shown = await run([
        'capture-pane',
        '-p',
        '-e',
        '-t',
        at(id),
        ';',
        'display-message',
        '-p',
        '-t',
        at(id),
        '#{cursor_x} #{cursor_y}',
      ]);
      const lines = shown.trimEnd().split('\n');
      const [x = 0, y = 0] = (lines.pop() ?? '').split(' ').map(Number);
      return { lines, x, y };
    },
    async paste(id, text) {
      const buffer = `svc_${randomUUID()}`;
      await run(['load-buffer', '-b', buffer, '-'], text);
      await run(['paste-buffer', '-d', '-p', '-r', '-b', buffer, '-t', at(id)]);
    },
    press: async (id, key) => void (await run(['send-keys', '-t', at(id), key])),
  };
}
