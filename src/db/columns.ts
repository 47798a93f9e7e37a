import type { ColumnType } from "kysely";

/** A column the database fills in when the writer leaves it out. */
export type Defaulted<T> = ColumnType<T, T | undefined, T>;
/** timestamptz comes back as Date; a writer may leave it to the database. */
export type CreatedAt = ColumnType<Date, Date | string | undefined, never>;
export type Time = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
/** jsonb goes in as JSON text and comes back parsed. */
export type Json = ColumnType<unknown, string | null | undefined, string | null>;
export type RequiredJson = ColumnType<unknown, string, string>;
export type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;
