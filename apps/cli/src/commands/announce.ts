import type { Announced, Announcement } from '@svc/contract/announcement.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import type { AddOptions, AnnounceRequest } from '../announce/announce-command.ts';
import { renderAnnouncements } from '../announce/render-announcements.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { askCore } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import { createStyle, print } from '../terminal.ts';

/** Lists, posts and removes the notes that conversations read at their next turn. */
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
      const posted = await ask<Announced>(`${url}/v2/announce`, 'nothing was posted', { body: toBody(request, Date.now()) });
      show(posted, postedWords(posted));
      break;
    }
    case 'remove':
      for (const id of request.ids)
        await ask(`${url}/v2/announcements/${encodeURIComponent(id)}`, `${id} was not removed`, { method: 'DELETE' });
      show({ ok: true, ids: request.ids }, `Removed ${request.ids.join(', ')}. Conversations that have read it still know it.`);
  }
  return exitCodes.ok;
}

function toBody({ text, to, urgent, until, from }: { text: string } & AddOptions, now: number): object {
  if (until !== undefined && until <= now) throw new CliError('that time has passed.', { run: './svc announce add --help' });
  return {
    text,
    ...(to === undefined ? {} : { target: to }),
    ...(urgent === true ? { priority: 'urgent' } : {}),
    ...(until === undefined ? {} : { ttl: (until - now) / 1000 }),
    ...(from === undefined ? {} : { from }),
  };
}

function postedWords({ id, target, no_reader, truncated }: Announced): string {
  const readers = target === '*' ? 'Every conversation reads it' : `${target} reads it`;
  return [
    `Posted as ${id}. ${readers} at the next turn.`,
    ...(truncated === true ? ['It was cut: a note has at most 4,000 characters.'] : []),
    ...(no_reader === true
      ? [`"${target}" names nobody yet. If it is right, the note waits for its readers; check it for a typing error.`]
      : []),
  ].join('\n');
}

/** The command's name for each field of the core. */
const typed: Readonly<Record<string, string>> = {
  'body.text': 'The note',
  'body.target': '--to',
  'body.from': '--from',
  'body.ttl': '--until',
};

/** The core's refusal, with its field names replaced by the options of the command. */
function whyOf({ message, fields }: ErrorBody): string {
  const named = Array.isArray(fields) ? (fields as { field: string; problem: string }[]) : [];
  if (named.length === 0 || named.some(({ field }) => typed[field] === undefined)) return message;
  return `${named.map(({ field, problem }) => `${typed[field]} ${problem}`).join('; ')}.`;
}

/** The reason comes from the core; `what` failed is ours. */
async function ask<T>(url: string, what: string, request: Parameters<typeof askCore>[1] = {}): Promise<T> {
  const answer = await askCore<T>(url, request);
  if (answer.ok) return answer.body;
  throw new CliError(`${what}.`, { why: whyOf(answer.body), run: './svc announce' });
}
