-- 006 (code from 001 on still runs): the sums of turns by day (UTC), for long times. The table of hours keeps them up by
-- itself, so they are those of its rows whatever code writes it.
CREATE TABLE usage_day (
  bucket_day INTEGER NOT NULL,
  surface TEXT NOT NULL,
  identity TEXT NOT NULL,
  principal TEXT NOT NULL,
  turns INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  estimated_turns INTEGER NOT NULL,
  unpriced_turns INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  billed_cost_usd REAL NOT NULL,
  PRIMARY KEY (bucket_day, surface, identity, principal)
) WITHOUT ROWID;

INSERT INTO usage_day
SELECT bucket_hour - bucket_hour % 86400000, surface, identity, principal,
  sum(turns), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens),
  sum(estimated_turns), sum(unpriced_turns), sum(cost_usd), sum(billed_cost_usd)
FROM usage_rollup GROUP BY 1, 2, 3, 4;

CREATE TRIGGER usage_hour_added AFTER INSERT ON usage_rollup BEGIN
  INSERT INTO usage_day (bucket_day, surface, identity, principal, turns, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, estimated_turns, unpriced_turns, cost_usd, billed_cost_usd)
  VALUES (NEW.bucket_hour - NEW.bucket_hour % 86400000, NEW.surface, NEW.identity, NEW.principal,
    NEW.turns, NEW.input_tokens, NEW.output_tokens,
    NEW.cache_read_tokens, NEW.cache_write_tokens, NEW.estimated_turns,
    NEW.unpriced_turns, NEW.cost_usd, NEW.billed_cost_usd)
  ON CONFLICT (bucket_day, surface, identity, principal) DO UPDATE SET
    turns = usage_day.turns + excluded.turns,
    input_tokens = usage_day.input_tokens + excluded.input_tokens,
    output_tokens = usage_day.output_tokens + excluded.output_tokens,
    cache_read_tokens = usage_day.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_tokens = usage_day.cache_write_tokens + excluded.cache_write_tokens,
    estimated_turns = usage_day.estimated_turns + excluded.estimated_turns,
    unpriced_turns = usage_day.unpriced_turns + excluded.unpriced_turns,
    cost_usd = usage_day.cost_usd + excluded.cost_usd,
    billed_cost_usd = usage_day.billed_cost_usd + excluded.billed_cost_usd;
END;

CREATE TRIGGER usage_hour_changed AFTER UPDATE ON usage_rollup BEGIN
  INSERT INTO usage_day (bucket_day, surface, identity, principal, turns, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, estimated_turns, unpriced_turns, cost_usd, billed_cost_usd)
  VALUES (NEW.bucket_hour - NEW.bucket_hour % 86400000, NEW.surface, NEW.identity, NEW.principal,
    NEW.turns - OLD.turns, NEW.input_tokens - OLD.input_tokens, NEW.output_tokens - OLD.output_tokens,
    NEW.cache_read_tokens - OLD.cache_read_tokens, NEW.cache_write_tokens - OLD.cache_write_tokens, NEW.estimated_turns - OLD.estimated_turns,
    NEW.unpriced_turns - OLD.unpriced_turns, NEW.cost_usd - OLD.cost_usd, NEW.billed_cost_usd - OLD.billed_cost_usd)
  ON CONFLICT (bucket_day, surface, identity, principal) DO UPDATE SET
    turns = usage_day.turns + excluded.turns,
    input_tokens = usage_day.input_tokens + excluded.input_tokens,
    output_tokens = usage_day.output_tokens + excluded.output_tokens,
    cache_read_tokens = usage_day.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_tokens = usage_day.cache_write_tokens + excluded.cache_write_tokens,
    estimated_turns = usage_day.estimated_turns + excluded.estimated_turns,
    unpriced_turns = usage_day.unpriced_turns + excluded.unpriced_turns,
    cost_usd = usage_day.cost_usd + excluded.cost_usd,
    billed_cost_usd = usage_day.billed_cost_usd + excluded.billed_cost_usd;
END;
