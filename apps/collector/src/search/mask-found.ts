import type { SearchAnswer, SearchedSession } from '@svc/contract/search.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import type { CoreMask } from '@svc/service-kit/redaction/core-mask.ts';
import type { FindAnswer, FoundSession } from './search-messages.ts';
import { holdsWord, snippetAround } from './snippet.ts';

type Masks = { mask: OutboundMask; coreMask: Pick<CoreMask, 'json'> };

/**
 * What was found, as it may be shown. Whole texts are masked before anything is cut from them, and a session that was found by
 * words of a secret alone was not found: nobody can guess a secret by looking for its beginnings.
 */
export async function maskFound(
  { sessions: found, hits, capped, complete }: FindAnswer,
  words: readonly string[],
  masks: Masks,
): Promise<Omit<SearchAnswer, 'q' | 'since'>> {
  const texts = await masked(
    found.map(({ text }) => text),
    masks,
  );
  const kept = found.flatMap((session, i): FoundSession[] => {
    const text = texts[i] ?? '';
    const isStillFound = text === session.text || words.every((word) => holdsWord(text, word));
    return isStillFound ? [{ ...session, text }] : [];
  });
  return {
    sessions: kept.flatMap((session) => toSearched(session, words)),
    // How many others there are would tell that there are some.
    hits: kept.length === found.length ? hits : kept.reduce((sum, session) => sum + session.hits, 0),
    capped,
    complete,
  };
}

async function masked(texts: string[], { mask, coreMask }: Masks): Promise<string[]> {
  const { json, value } = mask.write(texts);
  const also = await coreMask.json(json);
  return also === json ? value : (JSON.parse(also) as string[]);
}

const toSearched = ({ text, conversation_key, ...session }: FoundSession, words: readonly string[]): SearchedSession[] =>
  conversation_key === null ? [] : [{ ...session, conversation_key, ...snippetAround(text, words) }];
