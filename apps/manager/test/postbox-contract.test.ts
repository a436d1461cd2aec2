import path from 'node:path';
import { test } from 'vitest';
import { connectorContract } from '@svc/connector-kit/testing/connector-contract.ts';
import { fixtures } from './open-manager.ts';

// The tests' own type that can be sent through has to be one that anybody might write.
const folder = path.join(fixtures, 'house/connectors/postbox');

connectorContract({ test, folder, load: () => import('./fixtures/house/connectors/postbox/src/index.ts'), config: () => ({}) });
