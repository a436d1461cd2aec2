import { expect, test } from 'vitest';
import { errorCodes } from '@svc/contract/error-body.ts';
import { eventKinds } from '@svc/contract/event.ts';
import { outcomes } from '@svc/contract/turn.ts';
import { tiers, toolPolicies } from '@svc/contract/trust.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';

// Clients and operators rely on these words. If this test fails: was the change intended?
test('the vocabulary of the wire matches its snapshot', () => {
  expect({ errorCodes, eventKinds, outcomes, tiers, toolPolicies, exitCodes }).toMatchSnapshot();
});
