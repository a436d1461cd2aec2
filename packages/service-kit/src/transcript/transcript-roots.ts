import path from 'node:path';
import type { TranscriptEngine } from './transcript-line.ts';

/** Where an engine keeps its transcripts. `folders`: the patterns of the folders on the way to a file; `file`: that of its name. */
export type TranscriptRoot = {
  engine: TranscriptEngine;
  dir: string;
  folders: readonly RegExp[];
  file: RegExp;
  /** Where Claude Code records which process runs which session. */
  processes?: string;
};

type Env = Readonly<Record<string, string | undefined>>;

const any = /^[^.]/;
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** Where the engines of this user keep transcripts, by the variables that the engines themselves read. */
export function transcriptRoots(env: Env, home: string): TranscriptRoot[] {
  const claude = env['CLAUDE_CONFIG_DIR'] || path.join(home, '.claude');
  const codex = env['CODEX_HOME'] || path.join(home, '.codex');
  const gemini = path.join(env['GEMINI_CLI_HOME'] || home, '.gemini');
  return [
    {
      engine: 'claude',
      dir: path.join(claude, 'projects'),
      // The name of a project's folder begins with the replacement of its path's slash.
      folders: [/^[\w-]/],
      file: new RegExp(`^(${uuid})\\.jsonl$`),
      processes: path.join(claude, 'sessions'),
    },
    {
      engine: 'codex',
      dir: path.join(codex, 'sessions'),
      folders: [/^\d{4}$/, /^\d\d$/, /^\d\d$/],
      file: new RegExp(`^rollout-.*-(${uuid})\\.jsonl$`),
    },
    { engine: 'gemini', dir: path.join(gemini, 'tmp'), folders: [any, /^chats$/], file: /^session-.*\.jsonl$/ },
  ];
}
