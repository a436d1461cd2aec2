import type { PriorMessage } from '@svc/contract/envelope.ts';
import { atLeast, type Identity } from '@svc/contract/trust.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { BrokenRule, ModerationRules } from './moderation-rules.ts';

/** What a caller may put before the engine: the message, the system prompt and what was said before. */
export type Moderated = { text: string; system: string; transcript: readonly PriorMessage[] };

export type Rule = BrokenRule | 'deny' | 'flagged' | 'unavailable';

/** `transcript`: what of it may be used. `fault`: the provider could not say, and the message passed all the same. */
export type Verdict =
  | { allowed: true; transcript: readonly PriorMessage[]; fault?: string }
  | { allowed: false; rule: Rule; reply: string; fault?: string };

/** For whom and how long a provider works. */
export type Asked = { signal: AbortSignal; onUsage: (usage: { model: string; chars: number; isPaid: boolean }) => void };

/** A service that judges texts: true for each one that is bad. Rejects when it cannot say. */
export type ModerationProvider = {
  flagged(texts: readonly string[], asked: Asked): Promise<boolean[]>;
  /** Why it cannot be asked at the moment; null while it can. */
  fault(): string | null;
};

type Parts = {
  /** Null: nothing is judged. */
  rules: ModerationRules | null;
  /** Why the rules are not those the operator wrote; null when they are. */
  rulesFault: string | null;
  /** Null: the rules alone judge. */
  provider: ModerationProvider | null;
};

/** As much of a transcript is judged; what is older is left out, so that nothing unjudged is used. */
const maxTranscriptChars = 200_000;
const maxTranscriptTexts = 64;

/**
 * Whether a message may reach the engine. What cannot be judged is refused from senders below TRUSTED and passes from
 * those above. What was said before is left out where it is bad: the sender would otherwise never get past it.
 */
export type Moderation = {
  /** Null when it was ended by the signal before there was a verdict. */
  check(message: Moderated, identity: Identity, asked: Asked): Verdict | null | Promise<Verdict | null>;
  /** What does not work, and whom that shuts out; null when all does. */
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

  /** What is left of a message once the operator's own rules have seen it; null when they deny it. */
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
