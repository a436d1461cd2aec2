-- 007 (code from 001 on still runs): the sums of turns by periods of 30 days (UTC, since 1970), for years of them. The table
-- of days keeps them up by itself.
CREATE TABLE usage_period (
  bucket_period INTEGER NOT NULL,
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
  PRIMARY KEY (bucket_period, surface, identity, principal)
) WITHOUT ROWID;

INSERT INTO usage_period
SELECT bucket_day - bucket_day % 2592000000, surface, identity, principal,
  sum(turns), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens),
  sum(estimated_turns), sum(unpriced_turns), sum(cost_usd), sum(billed_cost_usd)
FROM usage_day GROUP BY 1, 2, 3, 4;

CREATE TRIGGER usage_day_added AFTER INSERT ON usage_day BEGIN
  INSERT INTO usage_period (
    bucket_period, surface, identity, principal, turns, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, estimated_turns, unpriced_turns, cost_usd, billed_cost_usd
  )
  VALUES (
    NEW.bucket_day - NEW.bucket_day % 2592000000, NEW.surface, NEW.identity, NEW.principal, NEW.turns, NEW.input_tokens,
    NEW.output_tokens, NEW.cache_read_tokens, NEW.cache_write_tokens, NEW.estimated_turns, NEW.unpriced_turns,
    NEW.cost_usd, NEW.billed_cost_usd
  )
  ON CONFLICT (bucket_period, surface, identity, principal) DO UPDATE SET
    turns = usage_period.turns + excluded.turns,
    input_tokens = usage_period.input_tokens + excluded.input_tokens,
    output_tokens = usage_period.output_tokens + excluded.output_tokens,
    cache_read_tokens = usage_period.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_tokens = usage_period.cache_write_tokens + excluded.cache_write_tokens,
    estimated_turns = usage_period.estimated_turns + excluded.estimated_turns,
    unpriced_turns = usage_period.unpriced_turns + excluded.unpriced_turns,
    cost_usd = usage_period.cost_usd + excluded.cost_usd,
    billed_cost_usd = usage_period.billed_cost_usd + excluded.billed_cost_usd;
END;

CREATE TRIGGER usage_day_changed AFTER UPDATE ON usage_day BEGIN
  UPDATE usage_period SET
    turns = turns + NEW.turns - OLD.turns,
    input_tokens = input_tokens + NEW.input_tokens - OLD.input_tokens,
    output_tokens = output_tokens + NEW.output_tokens - OLD.output_tokens,
    cache_read_tokens = cache_read_tokens + NEW.cache_read_tokens - OLD.cache_read_tokens,
    cache_write_tokens = cache_write_tokens + NEW.cache_write_tokens - OLD.cache_write_tokens,
    estimated_turns = estimated_turns + NEW.estimated_turns - OLD.estimated_turns,
    unpriced_turns = unpriced_turns + NEW.unpriced_turns - OLD.unpriced_turns,
    cost_usd = cost_usd + (NEW.cost_usd - OLD.cost_usd),
    billed_cost_usd = billed_cost_usd + (NEW.billed_cost_usd - OLD.billed_cost_usd)
  WHERE bucket_period = NEW.bucket_day - NEW.bucket_day % 2592000000
    AND surface = NEW.surface AND identity = NEW.identity AND principal = NEW.principal;
END;
