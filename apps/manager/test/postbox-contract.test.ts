import path from 'node:path';
import { test } from 'vitest';
import { connectorContract } from '@svc/connector-kit/testing/connector-contract.ts';
import { fixtures } from './open-manager.ts';

// The outbound type of these tests must itself keep the contract of connectors.
const folder = path.join(fixtures, 'house/connectors/postbox');

connectorContract({ test, folder, load: () => import('./fixtures/house/connectors/postbox/src/index.ts'), config: () => ({}) });
