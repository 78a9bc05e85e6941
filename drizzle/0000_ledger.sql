CREATE SEQUENCE "fencing_token" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9007199254740991 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "api_key" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"secret_sha256" bytea NOT NULL,
	"scopes" json NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by" text COLLATE "C" NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "api_key_secret_is_sha256" CHECK (octet_length(secret_sha256) = 32)
);
--> statement-breakpoint
CREATE TABLE "attempt" (
	"record_id" uuid NOT NULL,
	"fencing_token" bigint NOT NULL,
	"claim_token" uuid NOT NULL,
	"claimed_at" timestamp (3) with time zone NOT NULL,
	"lease_expires_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"generation" integer NOT NULL,
	"attempt" integer NOT NULL,
	"ending" smallint NOT NULL,
	"owner" text COLLATE "C",
	"error" json,
	"result" json,
	CONSTRAINT "attempt_pkey" PRIMARY KEY("record_id","fencing_token"),
	CONSTRAINT "attempt_ending_known" CHECK (ending BETWEEN 1 AND 5)
);
--> statement-breakpoint
CREATE TABLE "audit" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_id" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp (3) with time zone DEFAULT date_trunc('milliseconds', now()) NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"target" text COLLATE "C" NOT NULL,
	"reason" text,
	"before" json,
	"after" json,
	"request_id" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "class_policy" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"version" integer NOT NULL,
	"policy" json NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"updated_by" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "class_policy_history" (
	"name" text COLLATE "C" NOT NULL,
	"version" integer NOT NULL,
	"policy" json,
	"diff" json NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"by" text COLLATE "C" NOT NULL,
	"reason" text,
	CONSTRAINT "class_policy_history_pkey" PRIMARY KEY("name","version")
);
--> statement-breakpoint
CREATE TABLE "class_review" (
	"class" text COLLATE "C" PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"by" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "class_seen" (
	"class" text COLLATE "C" NOT NULL,
	"consumer" text COLLATE "C" NOT NULL,
	"first_seen_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "class_seen_pkey" PRIMARY KEY("class","consumer")
);
--> statement-breakpoint
CREATE TABLE "duplicate_tally" (
	"record_id" uuid PRIMARY KEY NOT NULL,
	"count" bigint NOT NULL,
	"first_at" timestamp (3) with time zone NOT NULL,
	"last_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "duplicate_tally_counts" CHECK (count >= 1),
	CONSTRAINT "duplicate_tally_in_order" CHECK (first_at <= last_at)
);
--> statement-breakpoint
CREATE TABLE "late_completion" (
	"record_id" uuid NOT NULL,
	"claim_token" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"result" json,
	CONSTRAINT "late_completion_pkey" PRIMARY KEY("record_id","claim_token")
);
--> statement-breakpoint
CREATE TABLE "record" (
	"id" uuid PRIMARY KEY NOT NULL,
	"claim_token" uuid NOT NULL,
	"fencing_token" bigint NOT NULL,
	"first_claimed_at" timestamp (3) with time zone NOT NULL,
	"claimed_at" timestamp (3) with time zone NOT NULL,
	"lease_expires_at" timestamp (3) with time zone,
	"sweep_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"available_at" timestamp (3) with time zone,
	"seq" bigint,
	"occurred_at" timestamp (3) with time zone,
	"version" integer NOT NULL,
	"generation" integer NOT NULL,
	"attempt" integer NOT NULL,
	"lease_ms" integer NOT NULL,
	"state" smallint NOT NULL,
	"cause" smallint,
	"on_lease_expiry" smallint NOT NULL,
	"fingerprint_kind" smallint,
	"class" text COLLATE "C" NOT NULL,
	"consumer" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"owner" text COLLATE "C",
	"fingerprint" bytea,
	"source" text COLLATE "C",
	"refs" text[] COLLATE "C",
	"error" json,
	"result" json,
	"payload" json,
	CONSTRAINT "record_runs_or_ended" CHECK ((ended_at IS NULL) = (lease_expires_at IS NOT NULL) AND (ended_at IS NULL) = (state = 1 OR state = 5)),
	CONSTRAINT "record_swept_while_claimed" CHECK (sweep_at IS NULL OR state = 1),
	CONSTRAINT "record_available_when_failed" CHECK ((available_at IS NOT NULL) = (state = 3)),
	CONSTRAINT "record_cause_of_state" CHECK ((cause IS NOT NULL) = (state = 4 OR state = 7) OR (cause = 4 AND (state = 2 OR state = 6))),
	CONSTRAINT "record_fingerprint_has_kind" CHECK ((fingerprint IS NULL) = (fingerprint_kind IS NULL))
);
--> statement-breakpoint
CREATE TABLE "setting" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"value" json NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "attempt_claim_token" ON "attempt" USING btree ("record_id","claim_token");--> statement-breakpoint
CREATE INDEX "audit_target" ON "audit" USING btree ("target","id");--> statement-breakpoint
CREATE INDEX "record_sweep" ON "record" USING btree ("sweep_at") WHERE sweep_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "record_page" ON "record" USING btree ("first_claimed_at");--> statement-breakpoint
CREATE INDEX "record_class_page" ON "record" USING btree ("class","first_claimed_at");--> statement-breakpoint
CREATE INDEX "record_state_page" ON "record" USING btree ("state","first_claimed_at") WHERE state > 2 OR (state = 1 AND sweep_at IS NULL);--> statement-breakpoint
CREATE INDEX "record_refs" ON "record" USING gin ("refs") WHERE refs IS NOT NULL;--> statement-breakpoint
CREATE INDEX "record_source" ON "record" USING btree ("source","seq") WHERE source IS NOT NULL;--> statement-breakpoint
-- From here on by hand: drizzle has no words for it.

-- Claiming and settling leave one dead row each time; found at a fiftieth of the table instead of a fifth, their space
-- is used again before the table has grown by much. No fillfactor: settling changes the sweeper's index, so no update
-- stays within its page's chain, and room left free would only make the table larger (measured: no faster either).
ALTER TABLE "record" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
-- No index of it knows the counts, so with room in the page a count is changed in place.
ALTER TABLE "duplicate_tally" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);--> statement-breakpoint
-- Without it, references are gathered in a pending list that a claim, of all callers, has to clean up now and then.
ALTER INDEX "record_refs" SET (fastupdate = off);--> statement-breakpoint
CREATE FUNCTION "refuse_audit_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'the audit is append-only: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;--> statement-breakpoint
CREATE TRIGGER "audit_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_audit_change"();--> statement-breakpoint
INSERT INTO "setting" ("name", "value", "updated_at") VALUES ('ledger_began_at', to_json(date_trunc('milliseconds', now())), date_trunc('milliseconds', now()));
