import type { PriorMessage } from '@svc/contract/envelope.ts';
import { atLeast, type Identity } from '@svc/contract/trust.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { BrokenRule, ModerationRules } from './moderation-rules.ts';

/** What a caller may send to the engine: the message, the system prompt and the earlier messages. */
export type Moderated = { text: string; system: string; transcript: readonly PriorMessage[] };

export type Rule = BrokenRule | 'deny' | 'flagged' | 'unavailable';

/** `transcript`: the part that may be used. `fault`: the provider failed, and the message passed all the same. */
export type Verdict =
  | { allowed: true; transcript: readonly PriorMessage[]; fault?: string }
  | { allowed: false; rule: Rule; reply: string; fault?: string };

/** The signal and the usage callback of a provider's call. */
export type Asked = { signal: AbortSignal; onUsage: (usage: { model: string; chars: number; isPaid: boolean }) => void };

/** A service that judges texts: true for each text that it flags. Rejects when it fails. */
export type ModerationProvider = {
  flagged(texts: readonly string[], asked: Asked): Promise<boolean[]>;
  /** Why it is unavailable at the moment; null while it is available. */
  fault(): string | null;
};

type Parts = {
  /** Null: messages are not checked. */
  rules: ModerationRules | null;
  /** Why the operator's rules are not in force; null when they are. */
  rulesFault: string | null;
  /** Null: only the rules apply. */
  provider: ModerationProvider | null;
};

/** How much of a transcript is checked; older messages are left out, so that nothing unchecked is used. */
const maxTranscriptChars = 200_000;
const maxTranscriptTexts = 64;

/**
 * Decides whether a message may reach the engine. A message that cannot be checked is refused from senders below TRUSTED and passes from
 * others. Flagged earlier messages are left out: otherwise the sender could never continue.
 */
export type Moderation = {
  /** Null when the signal aborted it before a verdict. */
  check(message: Moderated, identity: Identity, asked: Asked): Verdict | null | Promise<Verdict | null>;
  /** What does not work, and whom that blocks; null when everything works. */
  fault(): string | null;
};

export function createModeration({ rules, rulesFault, provider }: Parts): Moderation {
  const verdictWithout = (message: Moderated, identity: Identity, fault: string): Verdict =>
    atLeast(identity.trust_tier, 'TRUSTED')
      ? { allowed: true, transcript: message.transcript, fault }
      : { ...refused('unavailable'), fault };

  const byProvider = async (
    asks: ModerationProvider,
    message: Moderated,
    identity: Identity,
    asked: Asked,
  ): Promise<Verdict | null> => {
    const prior = newest(message.transcript, maxTranscriptTexts);
    try {
      const own = [message.text, message.system];
      const flagged = await asks.flagged([...own, ...prior.map(({ text }) => text)], asked);
      if (flagged.slice(0, own.length).includes(true)) return refused('flagged');
      return { allowed: true, transcript: prior.filter((_entry, index) => flagged[index + own.length] !== true) };
    } catch (error) {
      if (asked.signal.aborted) return null;
      return verdictWithout(message, identity, errorText(error));
    }
  };

  /** A message without the transcript entries that the operator's rules deny; null when the message itself is denied. */
  const withoutDenied = async (message: Moderated, judge: ModerationRules): Promise<Moderated | null> => {
    const prior = newest(message.transcript);
    const [isText, isSystem, ...priors] = await judge.denied([message.text, message.system, ...prior.map(({ text }) => text)]);
    if (isText === true || isSystem === true) return null;
    return { ...message, transcript: prior.filter((_entry, index) => priors[index] !== true) };
  };

  const byOthers = (message: Moderated, identity: Identity, asked: Asked): Verdict | Promise<Verdict | null> => {
    if (rulesFault !== null && !atLeast(identity.trust_tier, 'TRUSTED')) return { ...refused('unavailable'), fault: rulesFault };
    if (provider !== null) return byProvider(provider, message, identity, asked);
    return { allowed: true, transcript: message.transcript, ...(rulesFault === null ? {} : { fault: rulesFault }) };
  };

  const byDenyRules = async (judge: ModerationRules, message: Moderated, identity: Identity, asked: Asked) => {
    const kept = await withoutDenied(message, judge);
    return kept === null ? refused('deny') : byOthers(kept, identity, asked);
  };

  return {
    check(message: Moderated, identity: Identity, asked: Asked): Verdict | null | Promise<Verdict | null> {
      if (rules === null || identity.bypass_moderation) return { allowed: true, transcript: message.transcript };
      const broken = rules.broken(message.text, identity);
      if (broken !== null) return refused(broken);
      return rules.isDenying ? byDenyRules(rules, message, identity, asked) : byOthers(message, identity, asked);
    },

    fault(): string | null {
      const fault = rulesFault ?? provider?.fault() ?? null;
      return fault === null
        ? null
        : `messages cannot be moderated (${fault}), so those of people who are not trusted are refused`;
    },
  };
}

function newest(transcript: readonly PriorMessage[], maxTexts = Infinity): PriorMessage[] {
  let chars = 0;
  const kept: PriorMessage[] = [];
  for (const entry of transcript.toReversed()) {
    chars += entry.text.length;
    if (chars > maxTranscriptChars || kept.length >= maxTexts) break;
    kept.push(entry);
  }
  return kept.toReversed();
}

const replies: Record<Rule, string> = {
  size: 'That message is too long for me. Please send less at once.',
  flood: 'That is a lot of messages at once. Please wait a minute.',
  deny: 'I cannot help with that message.',
  flagged: 'I cannot help with that message.',
  unavailable: 'I cannot take messages at the moment. Please try again later.',
};

const refused = (rule: Rule) => ({ allowed: false, rule, reply: replies[rule] }) as const;
