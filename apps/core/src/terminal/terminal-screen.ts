import { randomUUID } from 'node:crypto';
import type { Screen } from './listening.ts';

type Answer = { code: number | null; stdout: string; stderr: string };
/** Runs one tmux command on the service's own server. */
export type AskTmux = (args: readonly string[], input?: string) => Promise<Answer>;

/** Reads what a terminal shows and types into it. Each call throws `unprocessable` when tmux has no such terminal. */
export type TerminalScreen = {
  read(id: string): Promise<Screen>;
  /** Pastes a text, as a bracketed paste where the program supports it. The text never appears in a process list. */
  paste(id: string, text: string): Promise<void>;
  press(id: string, key: 'Enter' | 'Escape'): Promise<void>;
};

/** `refuse` throws for an answer that reports an error; `checked` throws for an invalid id. */
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
