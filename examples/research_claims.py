"""A question becomes a report; its main claims are checked against independent sources. It takes a model:
TABLEWRIGHT_MODEL=openai:NAME python examples/research_claims.py"""

import tablewright as tw

found = tw.research("What does the Lagoon plan of Parrotfish Cloud cost, and what do you get for it?", search="sample")

for each in found.claims:
    print(each.verdict, "|", each.claim.claim_text)
    for proof in each.evidence:
        print("   ", proof.stance, "|", proof.domain, "|", proof.quote)
print(found.markdown)
