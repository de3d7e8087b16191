"""Names of countries, their people and their states, to distinguish "a city in Iowa" from "a city in France". Data
only."""

from __future__ import annotations


def _split_entries(text: str) -> list[str]:
    return [entry for line in text.split("\n") for entry in line.split("|") if entry]


# The countries, each with the names of its people and things.
DEMONYMS: dict[str, tuple[str, ...]] = {
    country: tuple(people.split(","))
    for country, _, people in (
        entry.partition(":")
        for entry in _split_entries(
            """
Afghanistan:Afghan|Albania:Albanian|Algeria:Algerian|Andorra:Andorran|Angola:Angolan|Antigua and Barbuda:Antiguan
Argentina:Argentine,Argentinian|Armenia:Armenian|Australia:Australian|Austria:Austrian|Azerbaijan:Azerbaijani
Bahamas:Bahamian|Bahrain:Bahraini|Bangladesh:Bangladeshi|Barbados:Barbadian|Belarus:Belarusian|Belgium:Belgian
Belize:Belizean|Benin:Beninese|Bhutan:Bhutanese|Bolivia:Bolivian|Bosnia and Herzegovina:Bosnian|Botswana:Botswanan
Brazil:Brazilian|Brunei:Bruneian|Bulgaria:Bulgarian|Burkina Faso:Burkinabé|Burundi:Burundian|Cambodia:Cambodian
Cameroon:Cameroonian|Canada:Canadian|Cape Verde:Cape Verdean|Central African Republic:Central African|Chad:Chadian
Chile:Chilean|China:Chinese|Colombia:Colombian|Comoros:Comorian|Congo:Congolese|Costa Rica:Costa Rican|Croatia:Croatian
Cuba:Cuban|Cyprus:Cypriot|Czech Republic:Czech|Czechia:Czech|Czechoslovakia:Czechoslovak|Denmark:Danish
Djibouti:Djiboutian|Dominica:Dominican|Dominican Republic:Dominican|East Timor:Timorese|Ecuador:Ecuadorian
Egypt:Egyptian|El Salvador:Salvadoran|England:English|Equatorial Guinea:Equatoguinean
Eritrea:Eritrean|Estonia:Estonian|Eswatini:Swazi
Ethiopia:Ethiopian|Fiji:Fijian|Finland:Finnish|France:French|Gabon:Gabonese|Gambia:Gambian|Georgia:Georgian
Germany:German|Ghana:Ghanaian|Greece:Greek|Greenland:Greenlandic|Grenada:Grenadian|Guatemala:Guatemalan|Guinea:Guinean
Guinea-Bissau:Bissau-Guinean|Saint Lucia:Saint Lucian|Saint Kitts and Nevis:Kittitian|São Tomé and Príncipe:Santomean
Saint Vincent and the Grenadines:Vincentian|Democratic Republic of the Congo:Congolese
Guyana:Guyanese|Haiti:Haitian|Honduras:Honduran|Hong Kong:Hongkonger|Hungary:Hungarian|Iceland:Icelandic|India:Indian
Indonesia:Indonesian|Iran:Iranian|Iraq:Iraqi|Ireland:Irish|Israel:Israeli|Italy:Italian|Ivory Coast:Ivorian
Jamaica:Jamaican|Japan:Japanese|Jordan:Jordanian|Kazakhstan:Kazakh,Kazakhstani|Kenya:Kenyan|Kiribati:I-Kiribati
Kosovo:Kosovan|Kuwait:Kuwaiti|Kyrgyzstan:Kyrgyz|Laos:Laotian|Latvia:Latvian|Lebanon:Lebanese|Lesotho:Mosotho
Liberia:Liberian|Libya:Libyan|Liechtenstein:Liechtensteiner|Lithuania:Lithuanian|Luxembourg:Luxembourgish
Madagascar:Malagasy|Malawi:Malawian|Malaysia:Malaysian|Maldives:Maldivian|Mali:Malian|Malta:Maltese
Marshall Islands:Marshallese|Mauritania:Mauritanian|Mauritius:Mauritian|Mexico:Mexican|Micronesia:Micronesian
Moldova:Moldovan|Monaco:Monégasque|Mongolia:Mongolian|Montenegro:Montenegrin|Morocco:Moroccan|Mozambique:Mozambican
Myanmar:Burmese|Namibia:Namibian|Nauru:Nauruan|Nepal:Nepalese|Netherlands:Dutch|New Zealand:New Zealand
Nicaragua:Nicaraguan|Niger:Nigerien|Nigeria:Nigerian|North Korea:North Korean|North Macedonia:Macedonian
Northern Cyprus:Turkish Cypriot|Northern Ireland:Northern Irish|Norway:Norwegian|Oman:Omani|Pakistan:Pakistani
Palau:Palauan|Palestine:Palestinian|Panama:Panamanian|Papua New Guinea:Papua New Guinean|Paraguay:Paraguayan
Peru:Peruvian|Philippines:Filipino,Philippine|Poland:Polish|Portugal:Portuguese|Puerto Rico:Puerto Rican|Qatar:Qatari
Romania:Romanian|Russia:Russian|Rwanda:Rwandan|Samoa:Samoan|San Marino:Sammarinese|Saudi Arabia:Saudi,Saudi Arabian
Scotland:Scottish|Senegal:Senegalese|Serbia:Serbian|Seychelles:Seychellois|Sierra Leone:Sierra Leonean
Singapore:Singaporean|Slovakia:Slovak|Slovenia:Slovenian,Slovene|Solomon Islands:Solomon Island|Somalia:Somali
South Africa:South African|South Korea:South Korean,Korean|South Sudan:South Sudanese|Soviet Union:Soviet|Spain:Spanish
Sri Lanka:Sri Lankan|Sudan:Sudanese|Suriname:Surinamese|Sweden:Swedish|Switzerland:Swiss|Syria:Syrian|Taiwan:Taiwanese
Tajikistan:Tajik|Tanzania:Tanzanian|Thailand:Thai|Togo:Togolese|Tonga:Tongan|Trinidad and Tobago:Trinidadian
Tunisia:Tunisian|Turkey:Turkish|Türkiye:Turkish|Turkmenistan:Turkmen|Tuvalu:Tuvaluan|Uganda:Ugandan|Ukraine:Ukrainian
United Arab Emirates:Emirati|United Kingdom:British|Great Britain:British|UK:British|United States:American
United States of America:American|USA:American|U.S.:American|U.S.A.:American|US:American|Uruguay:Uruguayan
Uzbekistan:Uzbek|Vanuatu:Vanuatuan|Vatican City:Vatican|Venezuela:Venezuelan|Vietnam:Vietnamese|Wales:Welsh
Yemen:Yemeni|Yugoslavia:Yugoslav|Zambia:Zambian|Zimbabwe:Zimbabwean
"""
        )
    )
}
# If countries share a name, the first listed.
COUNTRY_BY_DEMONYM: dict[str, str] = {name: country for country, names in reversed(DEMONYMS.items()) for name in names}
STATES = frozenset(
    _split_entries("""
Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|Indiana
Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska
Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania
Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|Wisconsin
Wyoming|D.C.|District of Columbia|Alberta|British Columbia|Manitoba|New Brunswick|Newfoundland and Labrador|Nova Scotia
Ontario|Prince Edward Island|Quebec|Québec|Saskatchewan|Yukon|Nunavut|Northwest Territories|New South Wales|Queensland
South Australia|Tasmania|Victoria|Western Australia|Northern Territory|Andhra Pradesh|Arunachal Pradesh|Assam|Bihar
Chhattisgarh|Goa|Gujarat|Haryana|Himachal Pradesh|Jharkhand|Karnataka|Kerala|Madhya Pradesh|Maharashtra|Manipur
Meghalaya|Mizoram|Nagaland|Odisha|Punjab|Rajasthan|Sikkim|Tamil Nadu|Telangana|Tripura|Uttar Pradesh|Uttarakhand
West Bengal|Delhi|Jammu and Kashmir|Ladakh|Puducherry|Bavaria|Baden-Württemberg|Hesse|Saxony|Thuringia|Brandenburg
Lower Saxony|North Rhine-Westphalia|Rhineland-Palatinate|Saarland|Schleswig-Holstein|Saxony-Anhalt
Mecklenburg-Vorpommern|Catalonia|Andalusia|Lombardy|Tuscany|Sicily|Brittany|Normandy|São Paulo|Minas Gerais|Jalisco
Sindh|Khyber Pakhtunkhwa|Balochistan|Flanders|Wallonia|Guangdong|Sichuan|Hubei|Zhejiang|Jiangsu|Shandong|Henan
""")
)
