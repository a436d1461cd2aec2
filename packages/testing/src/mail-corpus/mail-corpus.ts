import { createRandom } from '../random.ts';
import { automaticMail, automaticMails } from './automatic-mails.ts';
import { stamp, type CorpusMail } from './corpus-mail.ts';
import { oddBodies } from './odd-bodies.ts';
import { oddHeaders } from './odd-headers.ts';
import { ordinaryMail, type Written } from './ordinary-mails.ts';

/** The number of mails, which are always the same. */
export const corpusSize = 500;
export const corpusDomain = 'friend.example';

/**
 * Mails from the examples of RFC 5322, 2045 to 2047, 2231, 3464 and 3834, from the variants of real programs, and of both combined. Each has a
 * different sender, whom our server authenticates.
 */
export function mailCorpus(): CorpusMail[] {
  const automatic = Object.entries(automaticMails);
  const odd = Object.entries({ ...oddHeaders, ...oddBodies });
  return Array.from({ length: corpusSize }, (_, n) => {
    const id = `c${String(n + 1).padStart(3, '0')}`;
    const own = `${id}@${corpusDomain}`;
    const [name, one] = automatic[n] ?? [];
    if (name !== undefined && one !== undefined) return automaticMail(name, one, own);
    const [oddName, make] = odd[n - automatic.length] ?? [];
    if (oddName !== undefined && make !== undefined) return byPerson(oddName, own, () => make(own, id));
    return byPerson(`ordinary ${n}`, own, () => ordinaryMail(createRandom(n + 1), own, id));
  });
}

function byPerson(name: string, from: string, make: () => Written): CorpusMail {
  const { says } = make();
  return {
    name,
    from,
    envelopeFrom: from,
    raw: () => Buffer.concat([Buffer.from(stamp(`dmarc=pass header.from=${corpusDomain}`)), make().raw]),
    fate: 'answered',
    ...(says !== undefined && { says }),
  };
}
