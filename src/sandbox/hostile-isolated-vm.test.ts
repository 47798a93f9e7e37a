import { describeHostilePrograms } from "../../test/support/hostile-suite.ts";

describeHostilePrograms("isolated-vm");
