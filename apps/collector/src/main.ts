import { runService } from '@svc/service-kit/run-service.ts';
import { startCollector } from './start-collector.ts';

await runService('collector', startCollector);
