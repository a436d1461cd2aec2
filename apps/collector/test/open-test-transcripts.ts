import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { ListedSession } from '@svc/contract/session.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { TranscriptEngine } from '@svc/service-kit/transcript/transcript-line.ts';
import { transcriptRoots } from '@svc/service-kit/transcript/transcript-roots.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

/** Lines that the real program wrote, without those that hold its manual. */
export const transcriptLines = (engine: TranscriptEngine): string[] =>
  readFileSync(path.join(import.meta.dirname, 'fixtures/transcripts', `${engine}.jsonl`), 'utf8')
    .split('\n')
    .filter(Boolean);

export const claudeId = '5350c988-5f52-4ec7-8728-4642e7792d28';

/** A line of Claude Code's for what a person says, the n-th of the session. */
export const inbound = (n: number, text = `word ${n}`) =>
  `${JSON.stringify({ type: 'user', uuid: `u${n}`, timestamp: new Date(1_795_000_000_000 + n).toISOString(), cwd: '/home/me/project', sessionId: claudeId, message: { role: 'user', content: text } })}\n`;

/** A home folder in which engines keep transcripts, and collectors that follow them, one after the other. */
export function openTestTranscripts(env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const home = path.join(folder.path, 'home');
  const dataDir = path.join(folder.path, 'data');
  const claudeDir = path.join(home, '.claude/projects/-home-me-project');
  mkdirSync(claudeDir, { recursive: true });
  let open: TestCollector[] = [];

  const house = {
    home,
    dataDir,
    claudeDir,
    claudeFile: path.join(claudeDir, `${claudeId}.jsonl`),
    /** A collector that has looked at everything that is there. */
    async follow(more: Record<string, string> = {}) {
      const collector = openTestCollector({ SVC_DATA_DIR: dataDir, ...env, ...more }, undefined, {
        clock: systemClock,
        transcriptRoots: transcriptRoots({}, home),
      });
      open.push(collector);
      await collector.context.transcripts.start();
      return {
        collector,
        stored: async (): Promise<TelemetryEvent[]> => (await collector.events('limit=1000')).toReversed(),
        sessions: async (query = ''): Promise<ListedSession[]> =>
          (await collector.read<{ sessions: ListedSession[] }>(`/api/sessions?${query}`)).sessions,
      };
    },
    /** What was there before is history; this moment was long ago. */
    async begin() {
      const { collector } = await house.follow();
      await collector.context.db.run(
        "INSERT INTO fact VALUES ('transcripts_from', 0) ON CONFLICT (name) DO UPDATE SET value = 0",
      );
      await house.closeAll();
    },
    async closeAll() {
      for (const collector of open) await collector.close();
      open = [];
    },
    async close() {
      await house.closeAll();
      folder.remove();
    },
  };
  return house;
}

export type TestTranscripts = ReturnType<typeof openTestTranscripts>;
