# Methods outside the tree (`--config methods=folder`): the result of each in the arena, as a picture and a sentence.
rule sentence:
    input:
        code=script_of("tried"),
        cells="results/cells/tried/{exhibit}.csv",
    output:
        "results/exhibits/tried/{exhibit}.txt",
    log:
        "logs/exhibits/tried/{exhibit}.sentence.log",
    group:
        at_once("exhibits")
    conda:
        "../envs/cpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=growing(5),
    params:
        contents=contents(script_of("tried")),
        exhibit=lambda w: plan.tried[w.exhibit],
        subject=lambda w: plan.outside.subject(w.exhibit),
    script:
        "../workflow/scripts/tried.py"


rule tried:
    input:
        [exhibit_files("tried", name) for name in plan.tried],
        expand("results/exhibits/tried/{name}.txt", name=plan.tried),
    localrule: True
