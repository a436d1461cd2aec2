import type { Announcement } from '@svc/contract/announcement.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import type { AddOptions, AnnounceRequest } from '../announce/announce-command.ts';
import { renderAnnouncements } from '../announce/render-announcements.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askCore } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import { createStyle, print } from '../terminal.ts';

type Posted = { id: number; target: string; warning?: string; truncated?: boolean };

/** Lists, posts and takes back the notes that conversations read at their next turn. */
export async function announce(request: AnnounceRequest): Promise<number> {
  const url = coreUrl(loadSettings(repositoryRoot));
  const show = (facts: unknown, text: string) => print(request.json === true ? JSON.stringify(facts, null, 2) : text);
  switch (request.action) {
    case 'list': {
      const found = await ask<{ announcements: Announcement[] }>(`${url}/v2/announcements`, 'the notes cannot be listed');
      show(found, renderAnnouncements(found.announcements, createStyle(process.stdout)));
      break;
    }
    case 'add': {
      const posted = await ask<Posted>(`${url}/v2/announce`, 'nothing was posted', { body: toBody(request, Date.now()) });
      show(posted, postedWords(posted));
      break;
    }
    case 'remove':
      for (const id of request.ids)
        await ask(`${url}/v2/announcements/${encodeURIComponent(id)}`, `${id} was not taken back`, { method: 'DELETE' });
      show({ ok: true, ids: request.ids }, `Took back ${request.ids.join(', ')}. Who has read it knows it.`);
  }
  return exitCodes.ok;
}

function toBody({ text, to, urgent, until, from }: { text: string } & AddOptions, now: number): object {
  if (until !== undefined && until <= now) throw new CliError('that time is over.', { run: './svc announce add --help' });
  return {
    text,
    ...(to === undefined ? {} : { target: to }),
    ...(urgent === true ? { priority: 'urgent' } : {}),
    ...(until === undefined ? {} : { ttl: (until - now) / 1000 }),
    ...(from === undefined ? {} : { from }),
  };
}

function postedWords({ id, target, warning, truncated }: Posted): string {
  const readers = target === '*' ? 'Every conversation reads it' : `${target} reads it`;
  return [
    `Posted as ${id}. ${readers} at the next turn.`,
    ...(truncated === true ? ['It was cut: a note has at most 4,000 characters.'] : []),
    // The core names the field of its own; here it is what was typed.
    ...(warning === undefined ? [] : [warning.replace('"target"', () => `"${target}"`)]),
  ].join('\n');
}

/** The reason is the core's; `what` it did not do is ours. */
async function ask<T>(url: string, what: string, request: Parameters<typeof askCore>[1] = {}): Promise<T> {
  const answer = await askCore<T>(url, request);
  if (answer.ok) return answer.body;
  throw new CliError(`${what}.`, { why: answer.body.message, run: './svc announce' });
}
