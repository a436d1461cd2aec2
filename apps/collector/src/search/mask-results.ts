import type { SearchAnswer, SearchedSession } from '@svc/contract/insights.ts';
import type { OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import type { CoreMask } from '@svc/service-kit/redaction/core-mask.ts';
import { maxHits } from './find-sessions.ts';
import type { FindAnswer, FoundSession } from './search-messages.ts';
import { holdsWord, snippetAround } from './snippet.ts';

type Masks = { mask: OutboundMask; coreMask: Pick<CoreMask, 'json'> };

/**
 * The results as they may be shown. Texts are masked before they are cut, and a session that matches only by the words of a secret
 * is left out, so that searching for the beginning of a secret does not confirm it.
 */
export async function maskResults(
  { sessions: found, capped, complete }: FindAnswer,
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
    // Only hits of the shown sessions: a total of all would confirm that a secret is in one of the others.
    hits: Math.min(
      maxHits,
      kept.reduce((sum, session) => sum + session.hits, 0),
    ),
    capped,
    complete,
  };
}

async function masked(texts: string[], { mask, coreMask }: Masks): Promise<string[]> {
  const written = JSON.stringify(texts);
  const json = await mask.longJsonText(written);
  const also = await coreMask.json(json);
  return also === written ? texts : (JSON.parse(also) as string[]);
}

const toSearched = ({ text, conversation_key, ...session }: FoundSession, words: readonly string[]): SearchedSession[] =>
  conversation_key === null ? [] : [{ ...session, conversation_key, ...snippetAround(text, words) }];
