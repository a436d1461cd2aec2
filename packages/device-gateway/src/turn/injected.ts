import { errorText } from '@svc/connector-kit';
import { within } from '@svc/service-kit/within.ts';
import type { Gateway } from '../gateway.ts';

/** A refusal arrives within this time; after it, the text is being answered, ms. */
const refusedWithinMs = 2_000;

/** Resolves when the core has not refused a text for a conversation; nobody waits for its answer. Rejects with the core's refusal. */
export async function withoutRefusal({ ctx, clock }: Pick<Gateway, 'ctx' | 'clock'>, injected: Promise<void>): Promise<void> {
  injected.catch((error: unknown) =>
    ctx.log('warn', 'a message could not be sent to a conversation', { error: errorText(error) }),
  );
  await within(injected, refusedWithinMs, clock);
}
